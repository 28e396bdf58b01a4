# error 3:20 the type is an attribute

resource "acme_vm" "web" {
  type = "x"
}
