-- oldest version beside it: 0.1.0
DROP TABLE "relocations";
