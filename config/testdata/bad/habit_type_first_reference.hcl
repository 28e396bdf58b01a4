# error 7:11 resource.web.state.id

resource "web" {
  type = "acme/vm"
}
output "id" {
  value = acme_vm.web.id
}
