# error 4:3 an equals sign

resource "a" {
  type: "x"
}
