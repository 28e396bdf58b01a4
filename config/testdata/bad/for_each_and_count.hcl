resource "a" {
  type     = "x"
  for_each = {}
  count    = 1
}
# error 4:3 both
