resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  dependencies = { a = "a", b = resource.a.state, c = resource.zzz }
}
# error 6:24 Not a resource
# error 6:33 Not a resource
# error 6:55 Unknown name
