locals {
  a = local.b
  b = [local.c]
  c = "${local.a}"
}
# error 2:7 A circle of dependencies
