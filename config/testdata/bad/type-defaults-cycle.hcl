# error 4:20 cycle
type "a" {
  image    = "acme/net:1"
  defaults = { n = resource.x.state.id }
}
resource "x" { type = type.a }
