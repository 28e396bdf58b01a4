resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  config = { z = resource.a.state.list[2] }
}
# state a {"list": [1, 2]}
# error 6:39 Invalid index
