variable "v" { default = 1 }
resource "many" {
  type  = "x"
  count = 2
}
resource "a" {
  type = "x"
  lifecycle {
    replace_triggered_by = [var.v, resource.b.state, resource.many.state.x, resource.a]
  }
}
# error 9:29 Not a resource
# error 9:36 Unknown name
# error 9:54 One of several
# error 9:77 cycle
