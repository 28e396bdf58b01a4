variable "n" {
  default   = 2
  sensitive = true
}
resource "a" {
  type  = "x"
  count = var.n
}
# error 7:11 sensitive
