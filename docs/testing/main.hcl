variable "size" {
  type    = number
  default = 1
}

variable "backups" {
  type    = list(string)
  default = []
}

resource "db" {
  type   = "acme/vm:1"
  config = { name = "db", size = var.size }
  lifecycle {
    prevent_destroy = true
    precondition {
      condition     = var.size <= 8
      error_message = "a database has at most 8 processors, and size is ${var.size}"
    }
  }
}

resource "backup" {
  for_each = toset(var.backups)
  type     = "acme/bucket:1"
  config   = { name = "backup-${each.key}", from = resource.db.state.ip }
}
