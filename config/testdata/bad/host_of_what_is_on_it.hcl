host "web" {
  address = resource.vm.state.ip
}
resource "vm" {
  type = "acme/vm:1"
  host = host.web
}
type "file" {
  image = "acme/file:1"
  host  = host.two
}
host "two" {
  address = resource.file.state.ip
}
resource "file" { type = type.file }
# error 2:13 Cycle
# error 13:13 Cycle
