resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  dependencies = { first = resource.a }
  config = { x = dep.frist.state.y }
}
# error 7:18 Unknown name
