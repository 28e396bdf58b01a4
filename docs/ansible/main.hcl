# A web server, as playbook.yml has it.

variable "machine" {
  type        = string
  description = "The name of the machine, as the file of ssh has it."
}

variable "ssh_config" {
  type        = string
  description = "The absolute path of an ssh_config that has the machine."
}

variable "address" {
  type        = string
  description = "The address that nginx listens on."
}

variable "mirror" {
  type        = string
  description = "The URL of the directory that has release.tar."
}

variable "release" {
  type        = string
  description = "The checksum of release.tar."
}

locals {
  domain = "site.example"
  pages  = ["index", "about", "contact"]
}

deployster {
  auto_edges = true
}

host "web" {
  address     = var.machine
  ssh_options = ["-F", var.ssh_config]
}

type "machine" {
  image         = "deployster/machine"
  whole_machine = true
  host          = host.web
}

# Who maintains it.

resource "webmasters" {
  type   = "${type.machine}#group"
  config = { name = "webmasters", gid = 3000 }
}

resource "deploy" {
  type   = "${type.machine}#user"
  config = { name = "deploy", uid = 3001, groups = ["webmasters"], shell = "/bin/bash" }
}

resource "key" {
  type = "${type.machine}#ssh_key"
  config = {
    user    = "deploy"
    key     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"
    options = ["no-agent-forwarding", "no-port-forwarding"]
  }
}

resource "app_user" {
  type   = "${type.machine}#user"
  config = { name = "app", system = true, shell = "/usr/sbin/nologin", home = "/srv/app" }
}

resource "sudo" {
  type   = "${type.machine}#package"
  config = { name = "sudo", recommends = false }
}

resource "rules" {
  type       = "${type.machine}#sudoers"
  depends_on = [resource.sudo]
  config     = { name = "deploy", content = "deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart app\n" }
}

resource "root_login" {
  type = "${type.machine}#line"
  config = {
    path     = "/etc/ssh/sshd_config"
    id       = "PermitRootLogin"
    line     = "PermitRootLogin prohibit-password"
    match    = "^#?PermitRootLogin\\b"
    validate = ["sshd", "-t", "-f", "%s"]
  }
}

# The server.

resource "nginx" {
  type   = "${type.machine}#package"
  config = { name = "nginx", recommends = false, hold = true }
}

resource "vhost" {
  type       = "${type.machine}#file"
  depends_on = [resource.nginx]
  config = {
    path    = "/etc/nginx/sites-available/site"
    content = templatefile("site.conf.tftpl", { address = var.address, domain = local.domain })
    mode    = "0644"
  }
}

resource "enabled" {
  type       = "${type.machine}#link"
  depends_on = [resource.vhost]
  config     = { path = "/etc/nginx/sites-enabled/default", target = "/etc/nginx/sites-available/site" }
}

resource "tokens" {
  type       = "${type.machine}#line"
  depends_on = [resource.nginx]
  config = {
    path  = "/etc/nginx/nginx.conf"
    id    = "server_tokens"
    line  = "\tserver_tokens off;"
    match = "^\\s*#?\\s*server_tokens\\b"
  }
}

resource "serving" {
  type      = "${type.machine}#service"
  subscribe = [resource.vhost, resource.enabled, resource.tokens]
  config    = { name = "nginx", running = true, enabled = true }
}

# The pages.

resource "site" {
  for_each = toset(["/srv/site", "/srv/site/files"])
  type     = "${type.machine}#directory"
  config   = { path = each.key, mode = "2775", owner = "deploy", group = "webmasters" }
}

resource "page" {
  for_each = toset(local.pages)
  type     = "${type.machine}#file"
  config = {
    path    = "/srv/site/${each.key}.html"
    content = "<h1>${each.key} of ${local.domain}</h1>\n"
    mode    = "0644"
    owner   = "deploy"
    group   = "webmasters"
  }
}

resource "release" {
  type = "${type.machine}#download"
  config = {
    path   = "/srv/site/files/release.tar"
    url    = "${var.mirror}/release.tar"
    sha256 = var.release
    mode   = "0644"
    group  = "webmasters"
  }
}

resource "latest" {
  type   = "${type.machine}#link"
  config = { path = "/srv/site/files/latest", target = "release.tar" }
}

# The application.

resource "app" {
  type       = "${type.machine}#archive"
  depends_on = [resource.release]
  config     = { path = "/opt/app", source = "/srv/site/files/release.tar", sha256 = var.release }
}

resource "settings" {
  type   = "${type.machine}#file"
  config = { path = "/etc/app.ini", mode = "0644" }
}

resource "size" {
  type   = "${type.machine}#ini"
  config = { path = "/etc/app.ini", section = "app", key = "size", value = "10" }
}

resource "level" {
  type   = "${type.machine}#ini"
  config = { path = "/etc/app.ini", section = "log", key = "level", value = "info" }
}

resource "unit" {
  type = "${type.machine}#unit"
  config = {
    name = "app"
    sections = {
      Unit    = { Description = "The application" }
      Service = { User = "app", ExecStart = "/bin/sleep infinity" }
      Install = { WantedBy = "multi-user.target" }
    }
  }
}

resource "limits" {
  type   = "${type.machine}#drop_in"
  config = { unit = "app", name = "limits", sections = { Service = { LimitNOFILE = 4096 } } }
}

resource "running" {
  type       = "${type.machine}#service"
  depends_on = [resource.app_user]
  subscribe  = [resource.unit, resource.limits]
  config     = { name = "app", running = true, enabled = true, on_refresh = "restart" }
}

resource "secret" {
  type = "${type.machine}#exec"
  config = {
    name    = "secret"
    unless  = "test -e /etc/app.secret"
    command = "umask 077 && head -c 32 /dev/urandom | base64 >/etc/app.secret"
  }
}

# What runs by the clock.

resource "cron" {
  type   = "${type.machine}#package"
  config = { name = "cron", recommends = false }
}

resource "report" {
  type       = "${type.machine}#cron"
  depends_on = [resource.cron]
  config     = { name = "report", user = "deploy", schedule = "30 3 * * *", command = "date +%F >/srv/site/files/date" }
}

resource "cleaning" {
  type = "${type.machine}#timer"
  config = {
    name       = "clean"
    command    = ["/usr/bin/find", "/var/log/nginx", "-mtime", "+30", "-delete"]
    calendar   = ["daily"]
    persistent = true
  }
}

# The system.

resource "name" {
  type   = "${type.machine}#hostname"
  config = { name = "web1" }
}

resource "zone" {
  type   = "${type.machine}#timezone"
  config = { name = "Europe/Zurich" }
}

resource "domain" {
  type   = "${type.machine}#sysctl"
  config = { key = "kernel.domainname", value = local.domain }
}

resource "cache" {
  type   = "${type.machine}#mount"
  config = { path = "/srv/cache", source = "tmpfs", fstype = "tmpfs", options = ["size=16m", "nodev"] }
}

resource "names" {
  type   = "${type.machine}#text_block"
  config = { path = "/etc/hosts", id = "site", content = "192.0.2.10 db.site.example\n192.0.2.11 mail.site.example\n" }
}

resource "shell" {
  type   = "${type.machine}#line"
  config = { path = "/etc/shells", id = "app", line = "/opt/app/shell" }
}

resource "motd" {
  type   = "${type.machine}#file"
  config = { path = "/etc/motd", content = "Linux ${host.web.facts.kernel}, managed\n", mode = "0644" }
}
