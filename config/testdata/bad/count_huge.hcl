resource "a" {
  type  = "x"
  count = 1000000
}
# error 3:11 limit
