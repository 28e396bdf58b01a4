# error 4:3 an equals sign
# error 4:11 no block either
resource "a" {
  type "x"
}
