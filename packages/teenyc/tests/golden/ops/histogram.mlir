// (x_ptr: Ptr[i32], b_ptr: Ptr[u8], out_ptr: Ptr[i32], n: i32)
// o = tl.arange(0, 256)
// bins = tl.histogram(tl.load(x_ptr + o), 256, mask=o < n)
// tl.store(out_ptr + o, bins + tl.histogram(tl.load(b_ptr + o), 256))
module {
  tt.func public @histogram_entry_point(%x_ptr: !tt.ptr<i32>, %b_ptr: !tt.ptr<i8>, %out_ptr: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %o = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %splat = tt.splat %n : i32 -> tensor<256xi32>
    %cmpi = arith.cmpi slt, %o, %splat : tensor<256xi32>
    %splat_1 = tt.splat %x_ptr : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %addptr = tt.addptr %splat_1, %o : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %load = tt.load %addptr : tensor<256x!tt.ptr<i32>>
    %constant = arith.constant 256 : i32
    %splat_2 = tt.splat %constant : i32 -> tensor<256xi32>
    %cmpi_1 = arith.cmpi ult, %load, %splat_2 : tensor<256xi32>
    %andi = arith.andi %cmpi, %cmpi_1 : tensor<256xi1>
    %bins = tt.histogram %load, %andi : tensor<256xi32> -> tensor<256xi32>
    %splat_3 = tt.splat %out_ptr : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %addptr_1 = tt.addptr %splat_3, %o : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %splat_4 = tt.splat %b_ptr : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
    %addptr_2 = tt.addptr %splat_4, %o : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
    %load_1 = tt.load %addptr_2 : tensor<256x!tt.ptr<i8>>
    %extui = arith.extui %load_1 : tensor<256xi8> to tensor<256xi32>
    %histogram = tt.histogram %extui : tensor<256xi32> -> tensor<256xi32>
    %addi = arith.addi %bins, %histogram : tensor<256xi32>
    tt.store %addptr_1, %addi : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
