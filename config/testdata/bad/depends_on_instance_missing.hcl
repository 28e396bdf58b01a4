resource "a" {
  type  = "x"
  count = 1
}
resource "b" {
  type       = "x"
  depends_on = [resource.a[1]]
}
# error 7:17 there is only 0
