variable "zone" {
  default = "b"
}
resource "a" {
  for_each = toset(["x", "y"])
  type     = "acme/file:1"
  config   = { n = each.key, list = [1, { x = var.zone }], zone = "eu" }
  lifecycle {
    ignore_changes = [list[1].x, zone]
    precondition {
      condition     = length(var.zone) < 10
      error_message = "${var.zone} is too long."
    }
    postcondition {
      condition     = self.state.zone != "" && self.name != each.key
      error_message = "No zone: ${jsonencode(self)}."
    }
  }
}
resource "all" {
  type   = "acme/file:1"
  config = { zones = [for a in resource.a : a.state.zone], first = resource.a["x"].config.list }
  lifecycle {
    ignore_changes = all
  }
}
moved {
  from = resource.old
  to   = resource.a["x"]
}
removed {
  from = module.gone["k"].resource.x[0]
  lifecycle {
    destroy = false
  }
}
check "list" {
  assert {
    condition     = alltrue([for x in resource.a["x"].state.list : can(x.x)])
    error_message = "Not all: ${join(",", keys(resource.a["y"].state))}"
  }
}
output "o" {
  value = resource.all.config
  precondition {
    condition     = resource.all.state.ip == "1.2.3.4"
    error_message = "It is ${resource.all.state.ip}."
  }
}
