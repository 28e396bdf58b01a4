resource "a" {
  type = ["x"]
}
# error 2:10 Wrong type
