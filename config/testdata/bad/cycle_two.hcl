resource "a" {
  type = "x"
  config = { x = resource.b.state.y }
}
resource "b" {
  type = "x"
  config = { x = resource.a.state.y }
}
# error 3:18 A circle of dependencies
