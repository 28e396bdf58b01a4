resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  depends_on = resource.a
}
# error 6:16 Invalid depends_on
