deployster {
  adopt = "never"
}
resource "a" {
  type = "x"
  lifecycle {
    adopt = 3
  }
}
# error 2:11 Wrong type
# error 7:13 Wrong type
