variable "on" { default = true }
resource "a" {
  type  = "x"
  count = var.on
}
# error 4:11 CONDITION ? 1 : 0
