host "jobs" {
  kubernetes {
    namespace = "deployster"
    agent     = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
}
host "quiet" {
  kubernetes {
    namespace      = "deployster"
    agent          = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    network_policy = true
  }
}
type "db" {
  image   = "acme/db:1"
  host    = host.jobs
  pids    = 10
  user    = "app"
  network = "none"
}
type "group" {
  image   = "acme/db:1"
  host    = host.quiet
  user    = "1000:staff"
  network = "none"
}
type "machine" {
  image         = "acme/db:1"
  host          = host.jobs
  whole_machine = true
}
type "anywhere" {
  image = "acme/db:1"
  pids  = 10
}
resource "there" {
  type = type.anywhere
  host = host.jobs
}
# error 17:13 Not possible in a cluster
# error 18:13 Not possible in a cluster
# error 19:13 Not possible in a cluster
# error 24:13 Not possible in a cluster
# error 30:19 Not possible in a cluster
# error 38:10 Not possible in a cluster
