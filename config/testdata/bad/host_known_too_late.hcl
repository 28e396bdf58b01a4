resource "vm" { type = "acme/vm:1" }
locals { address = resource.vm.state.ip }
host "web" {
  address = resource.vm.state.ip
}
host "two" {
  address = "${local.address}${host.web.address}"
}
host "three" {
  for_each = resource.vm.state.all
  address  = each.value
}
host "four" {
  address = host.web.address
}
host "five" {
  address = uuid()
}
type "t" {
  image = host.web.facts.os
}
resource "late" {
  type = "acme/file:1"
  host = resource.vm.state.host
}
# error 7:16 Known too late
# error 7:32 Known too late
# error 10:14 Known too late
# error 14:13 Known too late
# error 17:13 Known too late
# error 20:11 Known too late
# error 24:10 Known too late
