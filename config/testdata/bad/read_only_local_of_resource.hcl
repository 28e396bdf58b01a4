resource "a" {
  type = "acme/file:1"
}
locals {
  flag = resource.a.state.flag
}
resource "b" {
  type = "x"
  read_only = local.flag
}
# error 9:15 Known too late
