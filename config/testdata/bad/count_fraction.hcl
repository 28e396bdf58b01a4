resource "a" {
  type  = "x"
  count = 1.5
}
# error 3:11 fraction
