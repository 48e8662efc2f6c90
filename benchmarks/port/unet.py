"""A UNet of diffusers, float16: a step of training on DDPM, then DDIM and Euler."""

import torch
import torch.nn.functional as F
from diffusers import DDIMScheduler, DDPMScheduler, EulerDiscreteScheduler, UNet2DConditionModel

torch.manual_seed(0)
unet = UNet2DConditionModel(
    sample_size=8, in_channels=4, out_channels=4, block_out_channels=(16, 32), layers_per_block=1,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=32,
    attention_head_dim=8, norm_num_groups=8,
).to(torch.float16)  # fmt: skip
text = torch.randn(2, 5, 32, dtype=torch.float16)
unet.train()
ddpm = DDPMScheduler(num_train_timesteps=100)
x = torch.randn(2, 4, 8, 8, dtype=torch.float16)
noise = torch.randn_like(x)
t = torch.randint(0, 100, (2,))
said = unet(ddpm.add_noise(x, noise, t), t, encoder_hidden_states=text).sample
F.mse_loss(said.float(), noise.float()).backward()
unet.eval()
with torch.no_grad():
    for s in (DDIMScheduler(num_train_timesteps=100), EulerDiscreteScheduler()):
        s.set_timesteps(4)
        x = torch.randn(2, 4, 8, 8, dtype=torch.float16) * s.init_noise_sigma
        for step in s.timesteps:
            both = s.scale_model_input(x, step)
            e = unet(both, step, encoder_hidden_states=text).sample
            x = s.step(e, step, x).prev_sample
