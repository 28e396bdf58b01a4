resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  depends_on = ["a"]
}
# error 6:17 Not a resource
