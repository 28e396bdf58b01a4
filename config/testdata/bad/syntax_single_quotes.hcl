# error 4:10 double quotes

resource "a" {
  type = 'x'
}
