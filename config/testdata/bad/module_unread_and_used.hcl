# error 7:12 A module is a directory
# error 11:7 Variable "nope" is not declared
# error 12:7 There is nothing called "foo"

# What depends on the error is not reported again, also where values must be known early.
module "web" {
  source = "modules/web"
}
locals {
  a = module.web.x
  b = var.nope
  c = foo.bar
}
resource "r" {
  type = module.web.type
  count = module.web.n
  config = { a = module.web.x, b = local.a, c = local.b }
}
resource "s" {
  type = "x"
  for_each = toset([module.web.n])
}
resource "t" {
  type = "x"
  count = local.c
}
output "a" {
  value = module.web
}
type "y" {
  image = module.web.image
}
