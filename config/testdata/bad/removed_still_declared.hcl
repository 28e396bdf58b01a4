resource "a" {
  type = "acme/file:1"
}
removed {
  from = resource.a
}
# error 5:10 Removed, and still declared
