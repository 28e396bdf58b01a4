variable "on" {
  sensitive = true
  default   = true
}
resource "a" {
  type    = "x"
  enabled = var.on
}
# error 7:13 nonsensitive
