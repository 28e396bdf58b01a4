module "a" {
  source = "./x"
  lifecycle {}
}
# error 3:3 no blocks
# error 2:12 not there
