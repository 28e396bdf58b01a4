locals {
  a = var.nope
  b = local.nope
}
resource "a" {
  type = type.nope
  config = { x = resource.nope.state }
  depends_on = [resource.nope]
}
# error 2:7 Unknown name
# error 3:7 Unknown name
# error 6:10 Unknown name
# error 7:18 Unknown name
# error 8:17 Unknown name
