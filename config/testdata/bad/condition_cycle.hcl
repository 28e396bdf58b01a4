resource "a" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      condition     = resource.b.state.ok
      error_message = "x"
    }
  }
}
resource "b" {
  type = "acme/file:1"
  config = { a = resource.a.state.x }
}
# error 5:23 A circle of dependencies
