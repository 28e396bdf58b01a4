resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "acme/file:1"
  config = {
    zone = resource.a.state.zne
  }
}
resource "c" {
  type = "acme/file:1"
  config = {
    fine  = [resource.a.state.zone, resource.a.state.size + 1, resource.a.state.disks[0].id, resource.a.state.at.y]
    disks = resource.a.state.disks + 1
  }
}
resource "d" {
  type   = "acme/file:1"
  config = { ids = [for d in resource.a.state.disks : d.idd] }
}
resource "e" {
  type   = "acme/file:1"
  config = { ids = resource.a.state.disks[*].di, up = upper(resource.a.state.disks) }
}
output "o" {
  value = { for k, d in resource.a.state.disks : d.id => [for y in [1, 2] : d.no] }
}
# schema a {"type":"object","properties":{"zone":{"type":"string"},"size":{"$ref":"#/$defs/n"},"disks":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}},"at":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":true}},"$defs":{"n":{"type":"integer"}}}
# error 7:28 Unknown attribute
# error 14:13 Invalid operand
# error 19:56 Unknown attribute
# error 23:45 Unknown attribute
# error 23:61 Invalid function argument
# error 26:78 Unknown attribute
