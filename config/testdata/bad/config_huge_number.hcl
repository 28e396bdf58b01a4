locals {
  big = 1e400
}
resource "a" {
  type = "x"
  config = { x = pow(local.big, 400) }
}
# error 6:18 Error in function call
