locals {
  y = resource.b.state.y
}
resource "a" {
  type = "x"
  config = { x = local.y }
}
resource "b" {
  type = "x"
  depends_on = [resource.a]
}
# error 2:7 A circle of dependencies
