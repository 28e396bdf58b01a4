# Twenty-three things on each machine, as playbook.yml has them.

variable "machines" {
  type        = map(string)
  description = "Their names, and their addresses."
}

variable "ssh_config" { type = string }

deployster {
  auto_edges = true
}

host "m" {
  for_each    = var.machines
  address     = each.key
  ssh_options = ["-F", var.ssh_config]
}

type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}

locals {
  users = { for pair in setproduct(keys(var.machines), ["ann", "bob"]) : "${pair[0]}/${pair[1]}" => { host = pair[0], name = pair[1] } }
  files = { for pair in setproduct(keys(var.machines), range(8)) : "${pair[0]}/${pair[1]}" => { host = pair[0], n = pair[1] } }
  keys = {
    ann = "AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"
    bob = "AAAAC3NzaC1lZDI1NTE5AAAAIDFsl8ocgpZ1ojqYv5EfTXMpQRpsdPqqp8XNLXGXwZDT"
  }
  directories = { for pair in setproduct(keys(var.machines), ["site", "site/pages", "site/parts"]) : "${pair[0]}/${pair[1]}" => { host = pair[0], path = "/srv/${pair[1]}" } }
}

resource "group" {
  for_each = host.m
  host     = each.value
  type     = "${type.machine}#group"
  config   = { name = "webmasters" }
}

resource "user" {
  for_each = local.users
  host     = host.m[each.value.host]
  type     = "${type.machine}#user"
  config   = { name = each.value.name, groups = ["webmasters"], shell = "/bin/bash" }
}

resource "key" {
  for_each = local.users
  host     = host.m[each.value.host]
  type     = "${type.machine}#ssh_key"
  config   = { user = each.value.name, key = "ssh-ed25519 ${local.keys[each.value.name]}" }
}

resource "directory" {
  for_each = local.directories
  host     = host.m[each.value.host]
  type     = "${type.machine}#directory"
  config   = { path = each.value.path, mode = "2775", owner = "ann", group = "webmasters" }
}

resource "page" {
  for_each = local.files
  host     = host.m[each.value.host]
  type     = "${type.machine}#file"
  config = {
    path    = "/srv/site/pages/${each.value.n}.html"
    content = "<h1>${each.value.n}</h1>\n"
    mode    = "0644"
    owner   = "ann"
    group   = "webmasters"
  }
}

resource "link" {
  for_each = host.m
  host     = each.value
  type     = "${type.machine}#link"
  config   = { path = "/srv/site/parts/one", target = "/srv/site/pages/1.html" }
}

resource "line" {
  for_each = host.m
  host     = each.value
  type     = "${type.machine}#line"
  config   = { path = "/etc/shells", id = "shell", line = "/usr/local/bin/shell" }
}

resource "nginx" {
  for_each = host.m
  host     = each.value
  type     = "${type.machine}#package"
  config   = { name = "nginx", recommends = false }
}

resource "vhost" {
  for_each   = host.m
  host       = each.value
  type       = "${type.machine}#file"
  depends_on = [resource.nginx[each.key]]
  config = {
    path    = "/etc/nginx/sites-available/site"
    content = templatefile("vhost.tftpl", { address = var.machines[each.key] })
    mode    = "0644"
  }
}

resource "enabled" {
  for_each   = host.m
  host       = each.value
  type       = "${type.machine}#link"
  depends_on = [resource.vhost[each.key]]
  config     = { path = "/etc/nginx/sites-enabled/default", target = "/etc/nginx/sites-available/site" }
}

resource "serving" {
  for_each  = host.m
  host      = each.value
  type      = "${type.machine}#service"
  subscribe = [resource.vhost[each.key], resource.enabled[each.key]]
  config    = { name = "nginx", running = true, enabled = true }
}

resource "sysctl" {
  for_each = host.m
  host     = each.value
  type     = "${type.machine}#sysctl"
  config   = { key = "kernel.domainname", value = "site.example" }
}
