host "a" {
  address       = "-oProxyCommand=x"
  user          = "a b"
  port          = 70000
  identity_file = ""
  jump          = "a'b"
  host_key      = "ssh-ed25519 nonsense"
  ssh_options   = ["-F", null]
  sudo          = "perhaps"
  data_dir      = "var/lib"
}
host "b" {
  address = null
}
host "c" {
  user = "me"
}
host "d" {
  address  = "x"
  password = "x"
}
host "a" {
  address = "x"
}
variable "secret" {
  default   = "10.0.0.1"
  sensitive = true
}
host "e" {
  address  = var.secret
  host_key = "# none"
}
# error 2:19 Invalid address
# error 3:19 Invalid user
# error 4:19 Invalid port
# error 5:19 Invalid identity_file
# error 6:19 Invalid jump
# error 7:19 Invalid host_key
# error 8:19 Invalid ssh_options
# error 9:19 Wrong type
# error 10:19 Invalid data_dir
# error 13:13 Invalid address
# error 15:10 Missing address
# error 20:3 Unsupported argument
# error 22:1 Declared twice
# error 30:14 Sensitive
# error 31:14 Invalid host_key
