resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  depends_on = [resource.aa]
}
# error 6:17 Unknown name
