resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "acme/file:1"
}
moved {
  from = resource.a
  to   = resource.b
}
# error 8:10 Moved, and still declared
