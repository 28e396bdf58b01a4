resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  config = { z = resource.a.state.zne }
}
# state a {"zone": "eu"}
# error 6:34 Unknown attribute
