locals {
  a = "${local.b}-${upper(local.c)}"
  b = var.nope
  c = local.nope
}
type "t" {
  image = local.a
}
resource "r" {
  type      = type.t
  read_only = local.b
  config    = { x = local.a, y = local.b }
}
# error 3:7 Unknown name
# error 4:7 Unknown name
