# error 5:3 no providers

resource "a" {
  type     = "x"
  provider = aws.eu
}
