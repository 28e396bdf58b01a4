# error 10:14 are written out as { NAME = VALUE }
# error 14:20 the defaults of a type
# error 22:12 a resource says that it is of this type and of no other: type = type.a
# error 26:12 The type "a" has defaults, which are for the configs of resources, and an artifact has none
locals {
  image = "x"
}
type "bad" {
  image    = "acme/net:1"
  defaults = merge({}, { size = 1 })
}
type "a" {
  image    = "acme/net:1"
  defaults = { n = count.index }
}
type "b" {
  image    = "acme/net:2"
  defaults = { n = 2 }
}
resource "either" {
  config = {}
  type   = local.image == "x" ? type.a : type.b
}
resource "good" { type = type.b }
artifact "c" {
  type   = type.a
}
