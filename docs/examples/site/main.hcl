# A web site on some machines, from a fresh Debian to pages that are served. A file of ssh has how the
# machines are reached.

variable "machines" {
  type        = map(string)
  description = "Their names, and the addresses that nginx listens on."
}

variable "ssh_config" {
  type        = string
  description = "The absolute path of an ssh_config that has these names."
}

variable "greeting" {
  type    = string
  default = "Welcome"
}

deployster {
  auto_edges = true
}

host "web" {
  for_each    = var.machines
  address     = each.key
  ssh_options = ["-F", var.ssh_config]
}

type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}

# Who maintains it.

resource "group" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#group"
  config   = { name = "webmasters" }
}

resource "user" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#user"
  config   = { name = "deploy", groups = ["webmasters"], shell = "/bin/bash", remove_home = true }
}

resource "key" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#ssh_key"
  config = {
    user    = "deploy"
    key     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"
    options = ["no-agent-forwarding", "no-port-forwarding"]
    comment = "ann"
  }
}

# The server. Its configuration belongs to a package of its own, which would stay when nginx is removed.
# Both are installed, and removed, by one transaction of apt.

resource "nginx_common" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#package"
  config   = { name = "nginx-common", purge = true }
}

resource "nginx" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#package"
  config   = { name = "nginx", recommends = false, purge = true }
}

resource "vhost" {
  for_each   = host.web
  host       = each.value
  type       = "${type.machine}#file"
  depends_on = [resource.nginx[each.key], resource.nginx_common[each.key]]
  config = {
    path    = "/etc/nginx/sites-available/site"
    content = templatefile("site.conf.tftpl", { name = each.key, address = var.machines[each.key] })
  }
}

# The package brings a link to its own page. It leads to the site instead.
resource "enabled" {
  for_each   = host.web
  host       = each.value
  type       = "${type.machine}#link"
  depends_on = [resource.vhost[each.key]]
  config     = { path = "/etc/nginx/sites-enabled/default", target = "/etc/nginx/sites-available/site" }
}

resource "tokens" {
  for_each   = host.web
  host       = each.value
  type       = "${type.machine}#line"
  depends_on = [resource.nginx[each.key], resource.nginx_common[each.key]]
  config = {
    path  = "/etc/nginx/nginx.conf"
    id    = "tokens"
    line  = "\tserver_tokens off;"
    match = "^\\s*#?\\s*server_tokens\\b"
  }
}

resource "serving" {
  for_each  = host.web
  host      = each.value
  type      = "${type.machine}#service"
  subscribe = [resource.vhost[each.key], resource.enabled[each.key], resource.tokens[each.key]]
  config    = { name = "nginx", running = true, enabled = true }
}

# The pages.

resource "pages" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#directory"
  config   = { path = "/srv/site", mode = "2775", owner = "deploy", group = "webmasters" }
}

resource "index" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#file"
  config = {
    path    = "/srv/site/index.html"
    content = templatefile("index.html.tftpl", { greeting = var.greeting, name = each.key, facts = each.value.facts })
    mode    = "0644"
    owner   = "deploy"
    group   = "webmasters"
  }
}

# What no other kind does is a command. It runs where the first one fails.
resource "secret" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#exec"
  config = {
    name    = "secret"
    unless  = "test -s /etc/site.secret"
    command = "umask 077 && head -c 32 /dev/urandom | base64 >/etc/site.secret"
    undo    = "rm /etc/site.secret"
  }
}

# The system.

resource "domain" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#sysctl"
  config   = { key = "kernel.domainname", value = "site.example" }
}

resource "cleaning" {
  for_each = host.web
  host     = each.value
  type     = "${type.machine}#timer"
  config = {
    name     = "clean-logs"
    command  = ["find", "/var/log/nginx", "-mtime", "+30", "-delete"]
    calendar = ["daily"]
  }
}

# The first machine knows the others by their names.
resource "names" {
  host = host.web[keys(var.machines)[0]]
  type = "${type.machine}#text_block"
  config = {
    path    = "/etc/hosts"
    id      = "site"
    content = join("\n", [for name, address in var.machines : "${address} ${name}.site.example"])
  }
}
