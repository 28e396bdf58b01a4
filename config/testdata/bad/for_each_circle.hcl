resource "a" {
  type     = "x"
  for_each = toset(resource.b.state.names)
}
resource "b" {
  type   = "x"
  config = { a = values(resource.a)[*].state.x }
}
# error 3:20 circle
