variable "secret" {
  default   = ["a"]
  sensitive = true
}
resource "a" {
  type     = "x"
  for_each = toset(var.secret)
}
# error 7:14 sensitive
