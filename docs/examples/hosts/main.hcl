# A file on each of two hosts, with a state that other machines may use too.

deployster {
  state = "dir://DIR/state"
}

variable "port" {
  type        = number
  description = "Where the sshd of both hosts listens, since both are this machine."
}

variable "greeting" {
  type    = string
  default = "Welcome"
}

host "web" {
  for_each      = { a = "DIR/a", b = "DIR/b" }
  address       = "127.0.0.1"
  user          = "root"
  port          = var.port
  identity_file = "ssh/id"
  host_key      = file("ssh/hostkey.pub")
  data_dir      = each.value
}

plug "root" {
  path = "DIR/world"
}

resource "motd" {
  for_each = host.web
  host     = each.value
  type     = "demo/file:1"
  config = {
    path    = "motd-${each.key}"
    content = "${var.greeting} to ${each.key}, with ${each.value.facts.os} and kernel ${each.value.facts.kernel}\n"
  }
}
