resource "a" {
  type  = "x"
  count = 1e300
}
# error 3:11 limit
