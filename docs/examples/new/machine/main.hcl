# This machine, configured by standard types: a directory, and a file in it. Run:
#
#   deployster plan -out=plan.bin
#   deployster apply plan.bin
#
# Then change the text below, or the file /srv/hello/greeting, and plan again: the plan shows
# what differs, and the next apply corrects it. "deployster destroy" removes both.

# The image comes with deployster. It may change all of this machine, as root.
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}

deployster {
  auto_edges = true # a directory comes before the files in it
}

variable "text" {
  type    = string
  default = "hello"
}

resource "directory" {
  type   = "${type.machine}#directory"
  config = { path = "/srv/hello" }
}

# A kind of object stands after the #: also package, service, user, timer and more.
resource "greeting" {
  type = "${type.machine}#file"
  config = {
    path    = "/srv/hello/greeting"
    content = "${var.text}\n"
  }
}

# Another machine, reached by ssh as root: add a host, and `host = host.web` to both resources.
# host "web" { address = "web.example.org" }

output "path" {
  value = resource.greeting.state.path
}
