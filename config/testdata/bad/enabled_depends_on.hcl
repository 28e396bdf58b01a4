variable "on" { default = false }
resource "a" {
  type    = "x"
  enabled = resource.b.state.on
}
resource "b" {
  type       = "x"
  depends_on = [resource.a]
}
# error 4:13 cycle
