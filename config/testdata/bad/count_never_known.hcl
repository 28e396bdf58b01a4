resource "a" {
  type  = "x"
  count = length(uuid())
}
# error 3:11 never known
